import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';

export type Logger = PinoLogger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const secretNames = [
  'apiKey',
  'authorization',
  'databaseUrl',
  'password',
  'secret',
  'webhookSecret',
  '["x-service-api-key"]',
];

/** Patterns of secrets, applied to the whole line: messages, stacks and nested objects. */
const secretShapes: readonly [RegExp, string][] = [
  [/(dw_(?:lender|partner)_[0-9A-Za-z]{12})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}/g, '$1_[redacted]'],
  [/whsec_[0-9A-Za-z+/=]{16,}/g, 'whsec_[redacted]'],
  [/\b(postgres(?:ql)?:\/\/)[^\s"@/]+@/g, '$1[redacted]@'],
];

/** Synchronous: otherwise the last lines before an exit are lost or out of order. */
const standardOutput = () => pino.destination({ dest: 1, sync: true });

/**
 * Writes one JSON object per line to standard output, or to `destination`. Redacts secret fields and values that look like
 * secrets.
 */
export function createLogger(
  { name, level }: { name: string; level: LogLevel },
  destination: DestinationStream = standardOutput(),
): Logger {
  const options = {
    name,
    level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: secretNames.flatMap((key) => [key, key.startsWith('[') ? `*${key}` : `*.${key}`]),
      censor: '[redacted]',
    },
    hooks: {
      streamWrite: (line: string) =>
        secretShapes.reduce((text, [shape, replacement]) => text.replace(shape, replacement), line),
    },
  };
  return pino(options, destination);
}
