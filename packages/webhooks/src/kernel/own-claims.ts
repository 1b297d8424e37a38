/**
 * The claims that this process counts, of work that it did not start or finish since. Storage counts a claim before the work
 * starts. Work that is read again meanwhile is not counted again, because at the limit it fails.
 */
export class OwnClaims<Id> {
  /** How often the work had been claimed before. Null until the first, because there are many lanes and accounts. */
  #before: Map<Id, number> | null = null;

  /** @param claims those before the one that storage is about to count */
  count(id: Id, claims: number): void {
    this.#before ??= new Map();
    this.#before.set(id, claims);
  }

  /** The next claim of the work is another one. */
  forget(id: Id): void {
    this.#before?.delete(id);
  }

  clear(): void {
    this.#before = null;
  }

  /** The claims of work that was read from storage, without our own. Storage resets them when it records an attempt. */
  without(id: Id, stored: number): number {
    return Math.min(stored, this.#before?.get(id) ?? stored);
  }
}
