import { writeSync } from 'node:fs';
import { apiKeyHeader, type Service } from '@deedwire/core';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { createLogDestination, type LineCounts, type LineKind, type LogDestination } from './log-destination.ts';

export type Logger = PinoLogger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

const secretNames = ['apiKey', 'authorization', 'databaseUrl', 'password', 'secret', 'webhookSecret'];

/** A text that every match of the pattern contains, the pattern, and what replaces a match. */
type SecretShape = readonly [part: string, pattern: RegExp, replacement: string];

const secretShapes: readonly SecretShape[] = [
  ['whsec_', /whsec_[0-9A-Za-z+/=]{16,}/g, 'whsec_[redacted]'],
  ['://', /\b(postgres(?:ql)?:\/\/)[^\s"@/]+@/g, '$1[redacted]@'],
];

/**
 * Redacts secrets in the whole line: messages, stacks and nested objects. Most lines contain none of the parts, and a search for a text
 * costs less than one for a pattern.
 */
function createRedaction({ names: { apiKeyPrefix } }: Pick<Service, 'names'>): (line: string) => string {
  const key = new RegExp(`(${apiKeyPrefix}_[a-z-]+_[0-9A-Za-z]{12})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}`, 'g');
  const shapes: readonly SecretShape[] = [[`${apiKeyPrefix}_`, key, '$1_[redacted]'], ...secretShapes];
  return (line) => {
    let redacted = line;
    for (const [part, pattern, replacement] of shapes) {
      if (redacted.includes(part)) redacted = redacted.replace(pattern, replacement);
    }
    return redacted;
  };
}

let standardOutput: LogDestination | undefined;

/** The time of lines that are written later. */
let lineMs: number | undefined;

/** Writes lines about something that happened at `atMs`, by the clock of the machine. */
export function logAt(atMs: number, write: () => void): void {
  lineMs = atMs;
  try {
    write();
  } finally {
    lineMs = undefined;
  }
}

/** What lines of the loggers of `createLogger` say of their process. */
const places = new WeakMap<Logger, { cell?: number }>();

/** Adds the cell to the later lines of a logger and of its children. */
export function nameCell(logger: Logger, cell: number): void {
  Object.assign(places.get(logger) ?? {}, { cell });
}

/** The time and the cell as members of the line. Many lines have the same millisecond, and formatting it costs more than the rest. */
function createTimestamp(place: { cell?: number }): () => string {
  let ms = Number.NaN;
  let members = '';
  return () => {
    const nowMs = lineMs ?? Date.now();
    if (nowMs !== ms) {
      ms = nowMs;
      const { cell } = place;
      members = `,"time":"${new Date(nowMs).toISOString()}"${cell === undefined ? '' : `,"cell":${cell}`}`;
    }
    return members;
  };
}

/** One for the process, because the lines of all loggers wait for the same reader. */
function openStandardOutput(onRecovered: (dropped: LineCounts) => void): LogDestination {
  if (standardOutput) return standardOutput;
  // Creating this stream makes Node switch a pipe or socket to non-blocking mode. A full one then fails with EAGAIN.
  void process.stdout;
  const destination = createLogDestination({ writeBytes: (bytes) => writeSync(1, bytes), onRecovered });
  process.on('exit', () => destination.flushSync()); // also after an uncaught error
  standardOutput = destination;
  return destination;
}

/** Lines of this process that were dropped because nothing read its standard output fast enough. */
export function droppedLogLines(): LineCounts {
  return standardOutput?.dropped() ?? { alarm: 0, security: 0, other: 0 };
}

/**
 * Passes lines to `destination` with their kind: the fields `alarm` and `security` of a line say it, and a fatal error is an
 * alarm.
 */
export function withLineKinds(destination: LogDestination): DestinationStream {
  const stream = {
    [pino.symbols.needsMetadataGsym]: true,
    // pino sets these before each line.
    lastLevel: 0,
    lastObj: null as object | null,
    write: (line: string) => destination.write(line, kindOf(stream.lastLevel, stream.lastObj)),
  };
  return stream;
}

const fatalLevel = 60;

function kindOf(level: number, fields: object | null): LineKind {
  if (level >= fatalLevel || (fields && 'alarm' in fields)) return 'alarm';
  return fields && 'security' in fields ? 'security' : 'other';
}

/**
 * For the line that is written for each request or each attempt. Searching fields for secret names costs more than the rest of
 * such a line. The caller chooses each field, and passes no object that others filled in. Values that look like secrets are
 * redacted as in every line.
 */
export function withChosenFields(logger: Logger): Logger {
  return logger.child({}, { redact: { paths: [] } });
}

/**
 * Writes one JSON object per line to standard output, or to `destination`. Redacts secret fields and values that look like
 * secrets. Lines are dropped, not waited for, while nothing reads standard output; a line with their number follows.
 */
export function createLogger(
  { name, level, service }: { name: string; level: LogLevel; service: Pick<Service, 'names'> },
  destination?: DestinationStream,
): Logger {
  const place = {};
  const options = {
    name,
    level,
    timestamp: createTimestamp(place),
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [...secretNames, `["${apiKeyHeader(service)}"]`].flatMap((key) => [
        key,
        key.startsWith('[') ? `*${key}` : `*.${key}`,
      ]),
      censor: '[redacted]',
    },
    hooks: { streamWrite: createRedaction(service) },
  };
  const onRecovered = ({ alarm, security, other }: LineCounts) => {
    const droppedLines = alarm + security + other;
    const counts = { droppedLines, droppedAlarms: alarm, droppedSecurityLines: security };
    logger.warn(counts, 'log lines were dropped because standard output was not read');
  };
  const logger: Logger = pino(options, destination ?? withLineKinds(openStandardOutput(onRecovered)));
  places.set(logger, place);
  return logger;
}
