/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** UID, by which `kubectl describe` finds Events. */
  readonly uid?: string;
}

export interface RecordedEvent {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** Reason for machines, in CamelCase. */
  readonly reason: string;
  /** Message for people, cut off after 1024 characters. */
  readonly message: string;
}

export interface EventRecorder {
  /** Never throws and never waits: an Event that cannot be written is dropped. */
  record(event: RecordedEvent): void;
}
