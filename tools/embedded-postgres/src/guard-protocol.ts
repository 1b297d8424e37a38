export interface GuardOptions {
  /** An absolute path. Created if it does not exist. */
  dataDirectory: string;
  /** Removed after the server has stopped. Null if there is nothing to remove. */
  temporaryDirectory: string | null;
  /** Password of the superuser `postgres`. It takes effect only when the data directory is created. */
  password: string;
  /** Null to use any free port. */
  port: number | null;
  /** If false, committed data survives a crash of the server, but not one of the machine. Faster, for tests. */
  durable: boolean;
}

/** `fast` ends sessions and writes a checkpoint. `immediate` simulates a crash; the next start recovers. */
export type StopMode = 'fast' | 'immediate';

/** `start` is the first command and is sent once. Its options are not on the command line because they hold a password. */
export type GuardCommand =
  | { command: 'start'; options: GuardOptions }
  | { command: 'restart'; mode: StopMode }
  | { command: 'stop' };

export type GuardReport = { report: 'ready'; port: number } | { report: 'failed'; message: string };
