import type { Location } from '../change.ts';
import { levelOf, reasonsOf, summaryOf, type Level, type Outcome } from './outcome.ts';
import type { Line } from './printed-line.ts';

const commands: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'notice' };

/** Renders workflow commands of GitHub Actions, and a summary. `placed` names a file as GitHub does. */
export function renderGithub(outcome: Outcome, placed: (location: Location) => Location): Line[] {
  const { groups, notices, exceptions } = outcome;
  return [
    ...groups.flatMap((group) =>
      group.changes.map((change) => {
        const { verdict, coordinate, message, rule, location } = change;
        const title = `${verdict}: ${coordinate} (${rule})`;
        return command(commands[levelOf(change, group)], placed(location), title, `${message} ${reasonsOf(change)}`);
      }),
    ),
    ...notices.map(({ location, message }) => command('notice', placed(location), 'contract-check', message)),
    ...groups.flatMap(({ name, problems }) =>
      problems.map(({ message, remedy }) =>
        command('error', null, name ?? 'contract-check', `${message}\nTo fix: ${remedy}`),
      ),
    ),
    ...exceptions
      .filter(({ status }) => status === 'expired')
      .map(({ package: name, coordinate, expiresOn }) =>
        command('error', null, name, `The exception for ${coordinate} expired after ${expiresOn}.`),
      ),
    summaryOf(outcome),
  ];
}

function command(name: string, location: Location | null, title: string, message: string): Line {
  const properties = [
    ...(location === null ? [] : [`file=${escapeProperty(location.file)}`]),
    ...(typeof location?.line === 'number' ? [`line=${location.line}`] : []),
    `title=${escapeProperty(title)}`,
  ];
  return { workflowCommand: `::${name} ${properties.join(',')}::${escapeData(message)}` };
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
