// Also bundled for other runtimes, so it imports types only.
import type { LogFields, ReceiverLog } from '@deedwire/webhook-receiver';

export const silent: ReceiverLog = { error: () => {}, warn: () => {} };

/** Passes each line, whatever its level is. */
export function logTo(write: (message: string, fields: LogFields) => void): ReceiverLog {
  const line = (fields: LogFields, message: string): void => write(message, fields);
  return { error: line, warn: line };
}

/** Lines with everything that a log would print: the message, and the stack of the error or the fields. */
export function logLinesTo(lines: string[]): ReceiverLog {
  return logTo((message, fields) => {
    lines.push(`${message} ${fields.err instanceof Error ? (fields.err.stack ?? '') : JSON.stringify(fields)}`);
  });
}
