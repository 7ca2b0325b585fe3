export interface Timer {
  readonly deadline: number;
  readonly callback: () => void;
}

export interface TimerHeap {
  /** Returns the function that removes the timer; removing it twice, or after it was taken, does nothing. */
  add(deadline: number, callback: () => void): () => void;
  /** Removes and returns the earliest timer (the oldest among equal ones) if it is due at `instant`. */
  take(instant: number): Timer | undefined;
  readonly size: number;
  readonly next: number | undefined;
}

interface Node extends Timer {
  readonly order: number;
  /** Index in the heap; -1 once removed. */
  index: number;
}

const before = (a: Node, b: Node): boolean =>
  a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order);

/** A binary heap whose nodes know their place, so that cancelling (what most time-outs end in) costs no garbage. */
export const createTimerHeap = (): TimerHeap => {
  const heap: Node[] = [];
  let order = 0;

  const place = (node: Node, index: number): void => {
    heap[index] = node;
    node.index = index;
  };

  const siftUp = (node: Node, from: number): void => {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || !before(node, parent)) break;
      place(parent, index);
      index = parentIndex;
    }
    place(node, index);
  };

  const siftDown = (node: Node, from: number): void => {
    let index = from;
    while (true) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, node)) break;
      const childIndex = child.index;
      place(child, index);
      index = childIndex;
    }
    place(node, index);
  };

  const remove = (node: Node): void => {
    const { index } = node;
    if (index < 0) return;
    node.index = -1;
    const last = heap.pop();
    if (last === undefined || last === node) return;
    const parent = heap[(index - 1) >> 1];
    if (index > 0 && parent !== undefined && before(last, parent)) siftUp(last, index);
    else siftDown(last, index);
  };

  return {
    add(deadline, callback) {
      const node: Node = { deadline, callback, order, index: heap.length };
      order += 1;
      heap.push(node);
      siftUp(node, node.index);
      return () => remove(node);
    },
    take(instant) {
      const first = heap[0];
      if (first === undefined || first.deadline > instant || first.deadline === Infinity) return undefined;
      remove(first);
      return first;
    },
    get size() {
      return heap.length;
    },
    get next() {
      return heap[0]?.deadline;
    },
  };
};
