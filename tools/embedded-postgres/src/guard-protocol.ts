export interface GuardOptions {
  /** Absolute; created when missing. */
  dataDirectory: string;
  /** Removed once the server has stopped; null: nothing is. */
  temporaryDirectory: string | null;
  /** The superuser `postgres`' password, set when the data directory is created. */
  password: string;
  /** null: a free one. */
  port: number | null;
  /** false: survives the death of every server process but not of the machine, for tests. */
  durable: boolean;
}

/** `fast` ends sessions and writes everything out; `immediate` is a crash, recovered from at the next start. */
export type StopMode = 'fast' | 'immediate';

/** `start` comes first and once; the options hold a password, so they are not on the command line. */
export type GuardCommand =
  | { command: 'start'; options: GuardOptions }
  | { command: 'restart'; mode: StopMode }
  | { command: 'stop' };

export type GuardReport = { report: 'ready'; port: number } | { report: 'failed'; message: string };
