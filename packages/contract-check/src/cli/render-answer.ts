import { span } from '../environment/environment.ts';
import type { Answer } from './ask.ts';
import { renderExceptions } from './render-text.ts';

/** Renders the answer: the reasons or the yes, then the evidence with its age. */
export function renderAnswer({ answer, question, subject, findings, ...rest }: Answer, now: Date): string {
  const { environment, takenAt, checkedAgainst, overruled, gaps, exceptions } = rest;
  const age = (at: string): string => `taken ${span(now.getTime() - Date.parse(at))} ago (${at})`;
  const can = question === 'can-i-retire' ? 'can be retired in' : subject.includes(' and ') ? 'fit' : 'fits';
  return [
    ...findings.flatMap((each) => [...wrap(`${each.answer}: ${each.message}`), ...wrap(`    ${each.first}`)]),
    ...(answer === 'yes' ? wrap(`yes: ${subject} ${can} ${environment}.`) : []),
    ...gaps.flatMap((gap) => wrap(`    ${gap}`)),
    ...overruled.flatMap((each) => wrap(`excepted: ${each.message}`)),
    ...(takenAt === null ? [] : wrap(`Evidence: ${environment}, ${age(takenAt)}: ${checkedAgainst.join(', ')}.`)),
    ...renderExceptions(exceptions),
  ].join('\n');
}

/** Lines of at most 88 characters, of which all but the first are indented. None for a blank text. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 88) lines[lines.length - 1] = `${last} ${word}`;
    else if (word !== '') lines.push(last === undefined && !text.startsWith(' ') ? word : `    ${word}`);
  }
  return lines;
}
