import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../field.ts';
import { sampleEvent } from './delivery.ts';
import { loadEvents } from './event-package.ts';
import { type Check, checks } from './grading-checks.ts';
import { type GradeOptions, Grading } from './grading.ts';
import { headerOptions, readHeader } from './header-option.ts';
import { environmentWithout, readPrefix, readValidSecrets } from './input.ts';
import { CommandError, isKeyOf, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { readTarget } from './target.ts';
import { type Color, colored, counted, terminalText, textField, wrap } from './text.ts';
import { readTimeout } from './timeout-option.ts';
import { acceptsEvent, type Result, type Verdict } from './verdict.ts';

export interface Grade extends Verdict {
  readonly name: string;
}

export async function grade(args: readonly string[], shell: Shell): Promise<number> {
  const end = args.indexOf('--');
  const command = end === -1 ? [] : args.slice(end + 1);
  const texts = [
    'type',
    'version',
    'events',
    'only',
    'skip',
    'format',
    'timeout',
    ...headerOptions,
    ...secretOptions,
  ] as const;
  const given = end === -1 ? args : args.slice(0, end);
  const { values, positionals } = parse(given, texts, ['allow-remote', 'standard']);
  const [to] = positionals;
  if (to === undefined || positionals.length > 1) throw new UsageError('grade needs the URL of one receiver.');
  const format = values.format ?? 'text';
  if (!isKeyOf(reports, format)) throw new UsageError('--format must be text, json or junit.');
  if (end !== -1 && command.length === 0) throw new UsageError('after --, pass a command that prints a number.');
  const { standard: isStandard = false } = values;
  const timeoutSeconds = readTimeout(values.timeout);
  const chosen = chooseChecks(isStandard, values.only, values.skip);
  const events = values.events === undefined ? null : await loadEvents(values.events);
  const { type = 'webhook.test', version } = values;
  if (!isStandard) sampleEvent(events, type, version);
  const target = await readTarget(to, values['allow-remote'], shell.env);
  const header = await readHeader(shell, values);
  if (header !== undefined && target.url.protocol === 'http:' && target.addresses === undefined)
    throw new UsageError('--header needs https for another machine: http would send its value unencrypted.');
  const [secret, nextSecret] = await readValidSecrets(shell, values);
  const count = command.length === 0 ? undefined : () => countBy(command, shell);
  // The command is wrong before anything is sent.
  await count?.();
  const timeoutMs = timeoutSeconds && timeoutSeconds * 1_000;
  const sent = { header, ...(timeoutMs && { timeoutMs }) };
  const prefix = await readPrefix(shell, values);
  const options = { ...target, secret, nextSecret, prefix, isStandard, events, type, version, count, ...sent };
  const grades: Grade[] = [];
  for await (const each of gradeReceiver(options, chosen)) {
    if (shell.signal.aborted) break;
    grades.push(each);
    if (format === 'text') shell.out(lineOf(each, shell.hasColors));
  }
  shell.out(reports[format](target.url, grades));
  const failed = grades.filter(({ result }) => result === 'fail').length;
  if (failed > 0) throw new CommandError(`the receiver failed ${counted(failed, 'check')}.`);
  if (grades.every(({ result }) => result === 'skipped')) throw new UsageError('every check was skipped.');
  return 0;
}

const checksOf = (isStandard = false): Check[] =>
  checks.filter(({ isOfDeedwire = false }) => !isStandard || !isOfDeedwire);

/** The grade of each check, as soon as it has run. If the receiver refuses every event, that of `valid` too, which says why. */
export async function* gradeReceiver(
  options: GradeOptions,
  chosen: readonly Check[] = checksOf(options.isStandard),
): AsyncGenerator<Grade> {
  const grading = new Grading(options);
  let isReached = true;
  let isAccepting: boolean | null = null;
  for (const check of chosen) {
    const { name, needsAcceptance = false } = check;
    if (isReached && needsAcceptance && isAccepting === null) {
      const verdict = await acceptsEvent(grading);
      isAccepting = verdict.result === 'pass';
      if (!isAccepting) yield { name: 'valid', ...verdict };
    }
    const reason = isReached ? 'the receiver refuses every event' : 'the URL does not respond as a receiver';
    if (!isReached || (needsAcceptance && isAccepting === false)) {
      yield { name, result: 'skipped', detail: reason };
      continue;
    }
    const verdict = await check.run(grading).catch(uncounted);
    if (name === 'redirect') isReached = verdict.result !== 'fail';
    if (name === 'valid') isAccepting = verdict.result === 'pass';
    yield { name, ...verdict };
  }
}

/** The count command worked before the first check. */
const uncounted = (error: unknown): Verdict => ({
  result: 'fail',
  detail: messageOf(error),
  fix: 'Pass a count command that prints a number each time.',
});

function chooseChecks(isStandard: boolean, only?: string, skip?: string): Check[] {
  const names = checks.map(({ name }) => name);
  const [included = names, excluded = []] = [only, skip].map((list) => list?.split(','));
  const unknown = [...included, ...excluded].find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no check "${unknown}". There are: ${names.join(', ')}.`);
  const chosen = checksOf(isStandard).filter(({ name }) => included.includes(name) && !excluded.includes(name));
  if (chosen.length > 0) return chosen;
  throw new UsageError('no check remains. Change --only or --skip, or leave out --standard.');
}

/** The last number that a command prints. It runs without a shell. */
async function countBy([program = '', ...args]: readonly string[], { signal, env }: Shell): Promise<number> {
  const options = {
    signal,
    env: environmentWithout(env, 'WEBHOOK_SECRET', 'WEBHOOK_HEADER', 'API_KEY'),
    timeout: 30_000,
  };
  let stdout: string;
  try {
    ({ stdout } = await promisify(execFile)(program, args, options));
  } catch (error) {
    const lastLine = textField(error, 'stderr').trim().split('\n').at(-1) ?? '';
    throw new UsageError(`the count command failed: ${messageOf(error).split('\n')[0]} ${lastLine}`.trim());
  }
  const [number] = stdout.match(/\d+(?=\D*$)/) ?? [];
  if (number === undefined) throw new UsageError('the count command prints no number.');
  return Number(number);
}

const marks: Readonly<Record<Result, readonly [mark: string, color: Color | null, noun: string]>> = {
  pass: ['✓', 'green', 'passed'],
  fail: ['✗', 'red', 'failed'],
  warning: ['!', 'yellow', 'warning'],
  unproven: ['?', 'yellow', 'unproven'],
  skipped: ['-', null, 'skipped'],
};

export function lineOf({ name, result, detail, fix }: Grade, hasColors: boolean): string {
  const [mark, color] = marks[result];
  const shown = color === null ? mark : colored(mark, color, hasColors);
  const text = wrap(detail, ' '.repeat(19)).slice(19);
  return `${shown} ${name.padEnd(17)}${text}${fix === undefined ? '' : wrap(`Fix: ${fix}`, '  ')}`;
}

const reports = {
  text: (_: URL, grades: readonly Grade[]): string => {
    const totals = Object.entries(marks).flatMap(([result, [, , noun]]) => {
      const { length } = grades.filter((each) => each.result === result);
      return length === 0 && result !== 'pass' ? [] : [`${length} ${noun}`];
    });
    return `${totals.join(', ')}\n`;
  },
  json: (url: URL, grades: readonly Grade[]): string =>
    `${JSON.stringify({ url: url.href, checks: grades }, null, 2)}\n`,
  junit: (url: URL, grades: readonly Grade[]): string => {
    const failures = grades.filter(({ result }) => result === 'fail').length;
    const skipped = grades.filter(({ result }) => result === 'skipped').length;
    const head = `tests="${grades.length}" failures="${failures}" skipped="${skipped}"`;
    const cases = grades.map(
      (each) => `  <testcase classname="receiver" name="${each.name}">${outcomeOf(each)}</testcase>\n`,
    );
    return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="${xml(url.href)}" ${head}>\n${cases.join('')}</testsuite>\n`;
  },
};

function outcomeOf({ result, detail, fix }: Grade): string {
  const text = xml(fix === undefined ? detail : `${detail}. ${fix}`);
  if (result === 'fail') return `<failure message="${text}"/>`;
  if (result === 'skipped') return `<skipped message="${text}"/>`;
  return `<system-out>${result}: ${text}</system-out>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const xml = (text: string): string =>
  terminalText(text).replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
