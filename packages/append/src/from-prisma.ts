import { createSession, type Place, type Session } from './session.ts';

/** A transaction or a client of Prisma, as far as it is used. */
export interface PrismaDatabase {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
  /** A client has it, and a transaction does not. */
  $connect?: unknown;
}

/** The transaction that an interactive `prisma.$transaction()` passes. */
export function fromPrisma(tx: PrismaDatabase, place: Place = {}): Session {
  return createSession(place, () => ({
    isInTransaction: tx.$connect === undefined,
    example: 'await prisma.$transaction(async (tx) => { … await append(fromPrisma(tx), event, account, snapshot) })',
    async query(text, values) {
      const rows = await tx.$queryRawUnsafe(text, ...values);
      return Array.isArray(rows) ? rows : [];
    },
  }));
}
