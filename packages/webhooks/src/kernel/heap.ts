/** An element of a heap. It can be in one heap at a time. */
export interface HeapNode {
  heapKey: number;
  /** -1 while it is in no heap. Written by the heap only. */
  heapIndex: number;
}

/** A binary min-heap that can remove any element. Adding and removing take logarithmic time. */
export class Heap<Node extends HeapNode> {
  readonly #nodes: Node[] = [];

  get size(): number {
    return this.#nodes.length;
  }

  /** The element with the smallest key. */
  get first(): Node | undefined {
    return this.#nodes[0];
  }

  add(node: Node, key: number): void {
    node.heapKey = key;
    this.#nodes.push(node);
    this.#moveUp(node, this.#nodes.length - 1);
  }

  remove(node: Node): void {
    const index = node.heapIndex;
    const last = this.#nodes.pop();
    node.heapIndex = -1;
    if (last === undefined || last === node) return;
    this.#moveUp(last, index);
    if (last.heapIndex === index) this.#moveDown(last, index);
  }

  #moveUp(node: Node, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#nodes[parentIndex];
      if (parent === undefined || parent.heapKey <= node.heapKey) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(node, index);
  }

  #moveDown(node: Node, from: number): void {
    let index = from;
    for (;;) {
      const childIndex = this.#smallerChild(index);
      const child = this.#nodes[childIndex];
      if (child === undefined || child.heapKey >= node.heapKey) break;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(node, index);
  }

  /** Returns an index without an element if there is no child. */
  #smallerChild(index: number): number {
    const leftIndex = 2 * index + 1;
    const left = this.#nodes[leftIndex];
    const right = this.#nodes[leftIndex + 1];
    return left !== undefined && right !== undefined && right.heapKey < left.heapKey ? leftIndex + 1 : leftIndex;
  }

  #put(node: Node, index: number): void {
    this.#nodes[index] = node;
    node.heapIndex = index;
  }
}
