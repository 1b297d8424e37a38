/** A body that a line of a log has. */
export interface LoggedBody {
  /** The first line with this body. Starts at 1. */
  line: number;
  /** `digestBytes` long. */
  digest: Uint8Array;
}

export const digestBytes = 16;

const firstCapacity = 1_024;

/**
 * The ids of deliveries or of events that a log names, each with its first line and its bodies. A log has millions of ids: in typed
 * arrays, each takes 25 to 50 bytes, and a body as much. As objects in a `Map`, they took 200 and 280.
 */
export class LoggedIds {
  #size = 0;
  #high = new Uint32Array(firstCapacity);
  #low = new Uint32Array(firstCapacity);
  #lines = new Uint32Array(firstCapacity);
  /** The place of the latest body, from 1. 0 without a body. */
  #latestBody = new Uint32Array(firstCapacity);
  #isFound = new Uint8Array(firstCapacity);
  /** A hash table of the places of the ids, from 1, with linear probing. At most half full. */
  #slots = new Uint32Array(firstCapacity * 2);
  #bodies = 0;
  #digests = new Uint8Array(0);
  #bodyLines = new Uint32Array(0);
  /** The place of the body of the same id that was added before, from 1. */
  #earlierBody = new Uint32Array(0);

  get size(): number {
    return this.#size;
  }

  /** Notes that a line names an id, a positive `bigint` as text. Returns its place, and whether an earlier line names it. */
  add(id: string, line: number): { place: number; isRepeated: boolean } {
    if (this.#size === this.#lines.length) this.#grow();
    const [high, low] = halvesOf(id);
    const slot = this.#slotOf(high, low);
    const known = this.#slots[slot] ?? 0;
    if (known !== 0) return { place: known - 1, isRepeated: true };
    const place = this.#size;
    this.#high[place] = high;
    this.#low[place] = low;
    this.#lines[place] = line;
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return { place, isRepeated: false };
  }

  /** Adds a body of an id, unless it has one with this digest. */
  addBody(place: number, digest: Uint8Array, line: number): void {
    for (const body of this.bodiesOf(place)) if (Buffer.compare(body.digest, digest) === 0) return;
    if (this.#bodies === this.#bodyLines.length) this.#growBodies();
    this.#digests.set(digest, this.#bodies * digestBytes);
    this.#bodyLines[this.#bodies] = line;
    this.#earlierBody[this.#bodies] = this.#latestBody[place] ?? 0;
    this.#bodies += 1;
    this.#latestBody[place] = this.#bodies;
  }

  /** The place of an id. Null if no line names it. */
  find(id: string): number | null {
    const known = this.#slots[this.#slotOf(...halvesOf(id))] ?? 0;
    return known === 0 ? null : known - 1;
  }

  /** Notes that the record of the id exists. */
  markFound(place: number): void {
    this.#isFound[place] = 1;
  }

  /** The different bodies of an id, the latest first. */
  *bodiesOf(place: number): Generator<LoggedBody> {
    for (let next = this.#latestBody[place] ?? 0; next !== 0; next = this.#earlierBody[next - 1] ?? 0) {
      const start = (next - 1) * digestBytes;
      yield { line: this.#bodyLines[next - 1] ?? 0, digest: this.#digests.subarray(start, start + digestBytes) };
    }
  }

  hasBody(place: number): boolean {
    return this.#latestBody[place] !== 0;
  }

  /** The ids that were not marked as found, in the order of their first lines. */
  *notFound(): Generator<{ id: bigint; line: number }> {
    for (let place = 0; place < this.#size; place += 1) {
      if (this.#isFound[place] === 1) continue;
      yield {
        id: (BigInt(this.#high[place] ?? 0) << 32n) | BigInt(this.#low[place] ?? 0),
        line: this.#lines[place] ?? 0,
      };
    }
  }

  /** The slot of an id, or the free one in which it belongs. */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(high, low) & mask;
    for (;;) {
      const known = this.#slots[slot] ?? 0;
      if (known === 0 || (this.#low[known - 1] === low && this.#high[known - 1] === high)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    const capacity = this.#lines.length * 2;
    this.#high = grown(this.#high, capacity);
    this.#low = grown(this.#low, capacity);
    this.#lines = grown(this.#lines, capacity);
    this.#latestBody = grown(this.#latestBody, capacity);
    this.#isFound = grownBytes(this.#isFound, capacity);
    this.#slots = new Uint32Array(capacity * 2);
    for (let place = 0; place < this.#size; place += 1)
      this.#slots[this.#slotOf(this.#high[place] ?? 0, this.#low[place] ?? 0)] = place + 1;
  }

  #growBodies(): void {
    const capacity = Math.max(firstCapacity, this.#bodyLines.length * 2);
    this.#digests = grownBytes(this.#digests, capacity * digestBytes);
    this.#bodyLines = grown(this.#bodyLines, capacity);
    this.#earlierBody = grown(this.#earlierBody, capacity);
  }
}

function halvesOf(id: string): [high: number, low: number] {
  const number = BigInt(id);
  return [Number(number >> 32n), Number(number & 0xffff_ffffn)];
}

/** Ids of one time differ in a few bits of the middle only. */
function hashOf(high: number, low: number): number {
  let hash = Math.imul(high, 0x9e37_79b1) ^ low;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}

function grownBytes(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(array);
  return larger;
}
