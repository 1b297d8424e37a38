export {
  append,
  createAccount,
  type DrizzleDatabase,
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPg,
  fromPostgresJs,
  fromPrisma,
  fromQuery,
  type KnexDatabase,
  type KyselyDatabase,
  type NewAccount,
  NotInTransactionError,
  type PgClient,
  type Place,
  type PostgresJsSql,
  type PrismaDatabase,
  type Session,
  SnapshotRefusedError,
  wake,
} from '@deedwire/append';
export {
  type EventOptions,
  gid,
  type PublicationOptions,
  type PublishedEvent,
  type PublishedVersion,
  ServiceError,
} from '@deedwire/core';
export { z } from 'zod';
export { defineEvent } from './define-event.ts';
export { defineService, type OwnService, type OwnServiceOptions, type VersionOptions } from './define-service.ts';
export type { RunningInterface, RunningWorker, StartOptions } from './running-app.ts';
export { startInterface } from './start-interface.ts';
export { startWorker } from './start-worker.ts';
