export interface Timer {
  readonly deadline: number;
  readonly callback: () => void;
}

interface Node extends Timer {
  readonly order: number;
  /** Index in the heap; -1 once removed. */
  index: number;
}

const before = (a: Node, b: Node): boolean =>
  a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order);

/** A binary heap whose nodes know their index, so that cancelling, the usual end of a timeout, leaves no garbage. */
export class TimerHeap {
  readonly #heap: Node[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Returns the function that removes the timer; removing it twice, or after it was taken, does nothing. */
  add(deadline: number, callback: () => void): () => void {
    const node: Node = { deadline, callback, order: this.#order, index: this.#heap.length };
    this.#order += 1;
    this.#heap.push(node);
    this.#siftUp(node, node.index);
    return () => this.#remove(node);
  }

  /** Removes and returns the earliest timer (the oldest among equal ones) if it is due at `instant`. */
  take(instant: number): Timer | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.deadline > instant || first.deadline === Infinity) return undefined;
    this.#remove(first);
    return first;
  }

  #place(node: Node, index: number): void {
    this.#heap[index] = node;
    node.index = index;
  }

  #siftUp(node: Node, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !before(node, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(node, index);
  }

  #siftDown(node: Node, from: number): void {
    let index = from;
    while (true) {
      const left = this.#heap[2 * index + 1];
      const right = this.#heap[2 * index + 2];
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, node)) break;
      const childIndex = child.index;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(node, index);
  }

  #remove(node: Node): void {
    const { index } = node;
    if (index < 0) return;
    node.index = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === node) return;
    const parent = this.#heap[(index - 1) >> 1];
    if (index > 0 && parent !== undefined && before(last, parent)) this.#siftUp(last, index);
    else this.#siftDown(last, index);
  }
}
