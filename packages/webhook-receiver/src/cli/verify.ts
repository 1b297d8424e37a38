import { diagnoseWebhook, readCapturedRequest, splitCapture } from './diagnosis.ts';
import { loadEvents } from './event-package.ts';
import { checkStandardInput, readInput, readPrefix, readSecrets } from './input.ts';
import { CommandError, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { counted, wrap } from './text.ts';

// A body has at most 256 kB. JSON, base64 and UTF-16 can make more of it, and a capture can have many.
const captureMaxBytes = 20_000_000;

type Diagnosis = Awaited<ReturnType<typeof diagnoseWebhook>>;

export async function verify(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, ['body', 'at', 'events', ...secretOptions], ['json']);
  const [file = '-'] = positionals;
  if (positionals.length > 1) throw new UsageError('verify reads one file.');
  checkStandardInput(file, values.body, values['secret-file'], values['env-file']);
  const at = values.at === undefined ? null : timeOf(values.at);
  const secrets = await readSecrets(shell, values);
  const prefix = await readPrefix(shell, values);
  const events = values.events === undefined ? null : await loadEvents(values.events);
  const parts = splitCapture(await readInput(shell, file, captureMaxBytes));
  const body = values.body === undefined ? null : await readInput(shell, values.body, captureMaxBytes);
  if (parts.length === 0) throw new UsageError('the capture has no POST request.');
  if (parts.length > 1 && body !== null) throw new UsageError('--body needs a capture of one request.');
  let rejected = 0;
  for (const [index, { bytes, receivedAt }] of parts.entries()) {
    const name = parts.length === 1 ? '' : `request ${index + 1}: `;
    const { request, problem } = readCapturedRequest(bytes, body);
    if (request === null) throw new UsageError(`${name}the request cannot be read. ${problem}`);
    const diagnosis = await diagnoseWebhook({
      request,
      secrets,
      receivedAt: at ?? receivedAt ?? new Date(),
      ...(events !== null && { order: events.order }),
      prefix,
    });
    if (!diagnosis.isAccepted) rejected += 1;
    shell.out(values.json === true ? `${JSON.stringify(diagnosis)}\n` : describe(name, diagnosis, secrets.length));
  }
  if (rejected === 0) return 0;
  throw new CommandError(
    parts.length === 1 ? 'a receiver rejects the request.' : `a receiver rejects ${counted(rejected, 'request')}.`,
  );
}

function describe(name: string, diagnosis: Diagnosis, secrets: number): string {
  const { isAccepted, rejection, matchingSecrets, findings } = diagnosis;
  const which = secrets === 1 ? 'the secret' : `secret ${matchingSecrets.join(' and ')} of ${secrets}`;
  const cause = matchingSecrets.length === 0 ? '' : ` It was signed with ${which}; what follows is wrong.`;
  const summary = isAccepted ? `accepted, signed with ${which}.` : `rejected with ${rejection}.${cause}`;
  const texts = findings.map(
    ({ code, isProven, problem, remedy }) =>
      `${code}${isProven ? '' : ' (probably)'}\n${wrap(problem, '  ')}${wrap(`Fix: ${remedy}`, '  ')}`,
  );
  return [wrap(`${name}${summary}`), ...texts].join('');
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads `10m` (ago), or a time of ISO 8601 with its zone. */
function timeOf(text: string): Date {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(count === undefined ? (isTime ? text : '') : Date.now() - Number(count) * (unitsMs[unit] ?? 0));
  if (!Number.isNaN(time.getTime())) return time;
  throw new UsageError('--at must be a time such as 10m (ago) or 2027-01-31T12:00:05Z.');
}
