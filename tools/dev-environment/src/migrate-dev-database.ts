import { migrate, MigrationChangedError } from '@deedwire/store';
import { CannotStartError } from './cannot-start-error.ts';
import type { DevDatabase } from './dev-database.ts';

/** @throws {CannotStartError} if an earlier build made the database. The message contains the command that resets it. */
export async function migrateDevDatabase({ directUrl, howToReset }: Pick<DevDatabase, 'directUrl' | 'howToReset'>) {
  try {
    await migrate(directUrl);
  } catch (error) {
    if (!(error instanceof MigrationChangedError)) throw error;
    throw new CannotStartError(`${error.message}\n${howToReset}`, { cause: error });
  }
}
