import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '@deedwire/testing';

/** The programs of PostgreSQL 15 of Debian. */
export const postgresFolder = '/usr/lib/postgresql/15/bin';

const isLocal = process.env['CI'] !== 'true';

/** Tests that need PostgreSQL 15 are skipped, unless under CI. */
export const isWithoutPostgres = isLocal && !existsSync(join(postgresFolder, 'pg_basebackup'));

/** Tests that need a cluster are skipped, unless under CI. */
export const isWithoutPatroni =
  isWithoutPostgres || (isLocal && ['patroni', 'etcd', 'haproxy'].some((name) => findProgram(name) === undefined));
