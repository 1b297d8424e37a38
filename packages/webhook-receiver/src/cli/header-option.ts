import { checkStandardInput, headerTexts, readInput, readPrefix, readSettings, type SecretOptions } from './input.ts';
import { type Shell, UsageError } from './shell.ts';

/** The secret header of a subscription. */
export interface RequestHeader {
  readonly name: string;
  readonly value: string;
}

export const headerOptions = ['header', 'header-file'] as const;

interface HeaderOptions extends SecretOptions {
  readonly header?: string | undefined;
  readonly 'header-file'?: string | undefined;
}

const maxNameLength = 100;
const maxValueLength = 4_096;

/**
 * Reads the header that `--header` names, with its value from a file or from `WEBHOOK_HEADER`. Undefined if the option is not passed. It is
 * checked as an interface checks it.
 *
 * @throws {UsageError} which quotes neither the name nor the value: a caller can confuse them
 */
export async function readHeader(shell: Shell, options: HeaderOptions): Promise<RequestHeader | undefined> {
  const { header: name, 'header-file': file } = options;
  if (name === undefined) {
    if (file === undefined) return undefined;
    throw new UsageError('--header-file has only the value. Pass the name with --header.');
  }
  if (name.includes(':'))
    throw new UsageError(
      '--header takes only a name: other processes can read arguments. Set WEBHOOK_HEADER to the value, or pass --header-file.',
    );
  const reserved = ['X-Forwarded', (await readPrefix(shell, options)) ?? []].flat();
  if (!isHeaderName(name, reserved))
    throw new UsageError(
      `--header must be Authorization, or X- with letters, digits, - and _, of at most ${maxNameLength} characters. Reserved: ${reserved.map((each) => `${each}-`).join(', ')}.`,
    );
  checkStandardInput(file, options['env-file'], options['secret-file']);
  const text =
    file === undefined
      ? (await readSettings(shell, options))['WEBHOOK_HEADER']
      : (await readInput(shell, file, 2 * maxValueLength, '--header-file')).toString();
  const value = (text ?? '').trim();
  for (const shown of headerTexts(value)) shell.hidden.add(shown);
  if (value === '')
    throw new UsageError('there is no value for --header. Set WEBHOOK_HEADER, or pass --env-file or --header-file.');
  if (value.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    throw new UsageError('the value of the header begins with its name. Remove the name and the colon.');
  if (value.length > maxValueLength || !/^[ -~]*$/.test(value))
    throw new UsageError(
      `the value of the header must have 1 to ${maxValueLength.toLocaleString('en')} printable ASCII characters.`,
    );
  return { name, value };
}

/** @param reserved beginnings of names */
function isHeaderName(name: string, reserved: readonly string[]): boolean {
  // Servers that follow CGI do not tell _ from -.
  const plain = `${name.toLowerCase().replaceAll('_', '-')}-`;
  return (
    name.length <= maxNameLength &&
    /^(?:authorization|x-[a-z0-9][a-z0-9_-]*)$/i.test(name) &&
    !reserved.some((each) => plain.startsWith(`${each.toLowerCase()}-`))
  );
}
