import { terminalText } from './cli/terminal-text.ts';
import type { Declaring } from './declaring.ts';
import { compareVerdicts, type Verdict } from './verdict.ts';
import { bumpBetween } from './version-bump.ts';

interface TooSmallBump {
  readonly packageName: string;
  /** The path of its `package.json`, relative to the current folder. */
  readonly manifest: string;
  readonly needed: Verdict;
  readonly declared: Verdict;
  /** The last released version. Null by default: it is unknown, so that a raised version declares nothing. */
  readonly released?: string | null;
  /** Whether `--declared` states the bump. */
  readonly isOption: boolean;
  /** The version to which the changes raise the package. Then pending changesets do not count. By default, they do not raise it. */
  readonly raisedTo?: string | null;
}

/** A reason why a check fails, and how to remove it: a sentence, then the commands to run. */
interface Failed {
  readonly message: string;
  readonly remedy: string;
}

/** The sentence and the commands, one line each, whatever the names of packages and files contain. */
function remedyOf(...lines: readonly string[]): string {
  return lines.map((line) => terminalText(line)).join('\n');
}

/** Why a declared bump is too small, and how to declare a larger one. */
export function tooSmallBump(
  { packageName, manifest, needed, declared, released = null, isOption, raisedTo = null }: TooSmallBump,
  declaring: Declaring,
): Failed {
  const found = declared === 'none' ? 'no bump' : `only a ${declared} bump`;
  const message = `the changes need a ${needed} bump, but ${found} is declared`;
  const raise = released === null ? [] : [`raise "version" in ${manifest} to ${nextVersion(released, needed)}`];
  const bump = `a ${needed} bump of ${packageName}`;
  if (raisedTo !== null)
    return {
      message: `the changes need a ${needed} bump since ${released ?? 'the latest release'}, but "version" is ${raisedTo}, which releases them before pending changesets apply.`,
      remedy: remedyOf(`${[...raise, 'restore "version", and raise it in a release'].join(', or ')}.`),
    };
  if (isOption) {
    const [remedy = '', ...commands] = declareBump(packageName, needed, declaring).split('\n');
    return { message: `${message}.`, remedy: remedyOf(`pass --declared ${needed}, and ${remedy}`, ...commands) };
  }
  if (!declaring.usesChangesets)
    return {
      message: `${message}.`,
      remedy: remedyOf(`${[...raise, `pass --declared ${needed} and release ${bump}`].join(', or ')}.`),
    };
  const skip = declaring.skipOf(packageName, manifest);
  if (skip !== null)
    return { message: `${message}: ${skip.reason}.`, remedy: remedyOf(`${[skip.remedy, ...raise].join(', or ')}.`) };
  const command = declaring.addCommand(packageName, needed, 'Describe the change for your users');
  return {
    message: `${message}.`,
    remedy: remedyOf(
      `${[...raise, `declare ${bump}`].join(', or ')}, with contract-check changelog --write or with:`,
      command,
    ),
  };
}

/** The remedy for a package without a bump: a sentence, then the command to run. */
export function declareBump(packageName: string, bump: Verdict, declaring: Declaring): string {
  if (!declaring.usesChangesets) return remedyOf(`release a ${bump} bump of ${packageName}.`);
  const command = declaring.addCommand(packageName, bump, 'Describe the change for your users');
  return remedyOf(`declare a ${bump} bump of ${packageName}:`, command);
}

/** The smallest next version whose bump is large enough. */
function nextVersion(released: string, needed: Verdict): string {
  const [major = 0, minor = 0, patch = 0] = released.split(/[.+-]/).map(Number);
  const next = [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`];
  return next.find((version) => compareVerdicts(bumpBetween(released, version), needed) >= 0) ?? `${major + 1}.0.0`;
}

/** Why no bump allows the changes of a file, which is a contract file, `versions.json` or `package.json`. */
export function brokenRelease(packageName: string, file: string, declaring: Declaring): Failed {
  const what = file === 'package.json' ? `${packageName} was removed` : `${file} breaks a released version`;
  return { message: `${what}, which no bump allows.`, remedy: keepReleased(packageName, file, declaring) };
}

function keepReleased(packageName: string, file: string, declaring: Declaring): string {
  if (file === 'versions.json')
    return 'restore the released state of the version. To stop serving it, release its deprecation and its sunset first, dated on or after the day of that release, and retire it once the sunset has passed, which is major.';
  if (file === 'package.json')
    return remedyOf(
      `restore the package ${packageName}. To remove or rename it, list the change in contract-exceptions.json in an earlier, separate pull request.`,
    );
  if (!/^(?:versions|json-schema)\/|(?:^|\/)\d{4}-\d{2}-\d{2}\./.test(file))
    return remedyOf(`revert the major changes in ${file}: restore what was released, and only add to it.`);
  const remedy = `revert the major changes in ${file}. To make them, add a new version in a new file, which is minor`;
  if (!declaring.usesChangesets) return remedyOf(`${remedy}.`);
  return remedyOf(`${remedy}:`, declaring.addCommand(packageName, 'minor', 'Describe the new version for your users'));
}
