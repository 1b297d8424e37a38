export {
  append,
  createAccount,
  type DrizzleDatabase,
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPg,
  fromPostgresJs,
  fromQuery,
  type KnexDatabase,
  type KyselyDatabase,
  type NewAccount,
  NotInTransactionError,
  type PgClient,
  type Place,
  type PostgresJsSql,
  type Session,
  SnapshotRefusedError,
  wake,
} from '@deedwire/append';
export { gid, ServiceError } from '@deedwire/core';
export { z } from 'zod';
export { defineEvent, type PayloadVersion, type ServiceEvent, type ServiceEventOptions } from './define-event.ts';
export { type CommonVersion, defineService, type OwnServiceOptions } from './define-service.ts';
export { startInterface } from './start-interface.ts';
export { startWorker } from './start-worker.ts';
