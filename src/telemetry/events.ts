/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `kubectl describe` finds events by it. */
  readonly uid?: string;
}

export interface RecordedEvent {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  /** For people, at most 1024 characters. */
  readonly message: string;
}

export interface EventRecorder {
  /** Never throws and never waits: an Event that cannot be written is dropped. */
  record(event: RecordedEvent): void;
}
