import { migrate, MigrationChangedError, onNewWait } from '@deedwire/store';
import { CannotStartError } from './cannot-start-error.ts';
import type { DevDatabase } from './dev-database.ts';

/** Says what it waits for. @throws {CannotStartError} if an earlier build made the database. The message contains the command that resets it. */
export async function migrateDevDatabase(
  { directUrl, howToReset }: Pick<DevDatabase, 'directUrl' | 'howToReset'>,
  say: (text: string) => void,
): Promise<void> {
  try {
    await migrate(directUrl, { onWait: onNewWait(say) });
  } catch (error) {
    if (!(error instanceof MigrationChangedError)) throw error;
    throw new CannotStartError(`${error.message}\n${howToReset}`, { cause: error });
  }
}
