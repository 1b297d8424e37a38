/** An element of a heap. It can be in one heap at a time. */
export interface HeapNode {
  heapKey: number;
  /** Increases with each element that is added. Written by the heap only. */
  heapOrder: number;
  /** -1 while it is in no heap. Written by the heap only. */
  heapIndex: number;
}

/**
 * A binary min-heap that can remove any element. Of elements with the same key, the one that was added first comes first.
 * Adding and removing take logarithmic time.
 */
export class Heap<Node extends HeapNode> {
  readonly #nodes: Node[] = [];
  #added = 0;

  get size(): number {
    return this.#nodes.length;
  }

  /** The element with the smallest key. */
  get first(): Node | undefined {
    return this.#nodes[0];
  }

  add(node: Node, key: number): void {
    node.heapKey = key;
    node.heapOrder = this.#added;
    this.#added += 1;
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
      if (parent === undefined || isBefore(parent, node)) break;
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
      if (child === undefined || isBefore(node, child)) break;
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
    return left !== undefined && right !== undefined && isBefore(right, left) ? leftIndex + 1 : leftIndex;
  }

  #put(node: Node, index: number): void {
    this.#nodes[index] = node;
    node.heapIndex = index;
  }
}

function isBefore(a: HeapNode, b: HeapNode): boolean {
  return a.heapKey < b.heapKey || (a.heapKey === b.heapKey && a.heapOrder < b.heapOrder);
}
