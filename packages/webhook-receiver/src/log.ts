/** What a line of the log is about. The receiver adds no body, secret or signature. */
export interface LogFields {
  /** The code of the response. */
  readonly code: string;
  /** The `webhook-id` of the delivery, if the request is authentic. */
  readonly id?: string;
  readonly type?: string;
  readonly version?: string;
  /** What is wrong with the body. */
  readonly problems?: readonly string[];
  /** How many lines with this code were left out since the one before. */
  readonly suppressed?: number;
  /** The error that caused it. That of a handler is passed as it is, and can contain data of the event. */
  readonly err?: unknown;
}

/**
 * Where the receiver reports what an operator has to know. The fields come first, as pino and Fastify's `app.log` expect them.
 * `console` prints them after the message.
 */
export interface ReceiverLog {
  /** The receiver or its store has a problem. */
  error(fields: LogFields, message: string): unknown;
  /** A request was refused because of what it contains, or an event has no handler. */
  warn(fields: LogFields, message: string): unknown;
}

export type LogLevel = keyof ReceiverLog;

/** Writes a line that begins with the code. A log that throws, or rejects, changes nothing. */
export function writeLine(log: ReceiverLog, level: LogLevel, fields: LogFields, message: string): void {
  const line = `${fields.code}: ${message}`;
  ignoreFailure(() => (log === console ? console[level](line, fields) : log[level](fields, line)));
}

/** Calls a function of the application whose failure must not change the response. */
export function ignoreFailure(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // The application has to report it.
  }
}
