import { randomBytes, randomUUID } from 'node:crypto';

/** A source of unpredictable values. */
export interface Random {
  bytes(size: number): Buffer;
  uuid(): string;
}

/** The random number generator of the operating system. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size), uuid: () => randomUUID() };
