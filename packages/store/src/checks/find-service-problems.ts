import type { GidContext } from '@deedwire/core';
import { findUnregistered } from '../migrations/find-unregistered.ts';
import type { Database } from '../statements/database.ts';
import { findOtherNamespace } from './find-other-namespace.ts';

/** In what a database differs from the service of a process, which must not start then: sentences, without the period. */
export async function findServiceProblems(
  database: Database,
  { service, gidNamespace }: GidContext,
): Promise<string[]> {
  return [...(await findUnregistered(database, service)), ...(await findOtherNamespace(database, gidNamespace))];
}
