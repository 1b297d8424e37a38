import { Help } from 'commander';
import { span } from '../environment/environment.ts';
import type { Answer } from './ask.ts';
import { linesOf } from './printed-line.ts';
import { renderExceptions } from './render-text.ts';
import { terminalText } from './terminal-text.ts';

/** Renders the answer: the reasons or the yes, then the evidence with its age. */
export function renderAnswer({ answer, question, subject, findings, ...rest }: Answer, now: Date): string[] {
  const { cell, takenAt, checkedAgainst, overruled, gaps, unrelated, exceptions } = rest;
  const environment = `${rest.environment}${cell ? `, cell ${cell}` : ''}`;
  const age = (at: string): string => `taken ${span(now.getTime() - Date.parse(at))} ago (${at})`;
  const can = question === 'can-i-retire' ? 'can be retired in' : subject.includes(' and ') ? 'fit' : 'fits';
  const against = checkedAgainst.length === 0 ? '. It has no build to check against' : `: ${checkedAgainst.join(', ')}`;
  const sentences = [
    ...findings.flatMap((each) => [`${each.answer}: ${each.message}`, each.first && `    ${each.first}`]),
    answer === 'yes' ? `yes: ${subject} ${can} ${environment}.` : '',
    ...gaps.map((gap) => `    ${gap}`),
    ...unrelated.map((message) => `    Not part of this answer: ${message}`),
    ...overruled.map((each) => `excepted: ${each.message}`),
    takenAt === null ? '' : `Evidence: ${environment}, ${age(takenAt)}${against}.`,
  ];
  const wrapped = sentences
    .filter((sentence) => sentence !== '')
    .flatMap((sentence) => linesOf(new Help().boxWrap(terminalText(sentence), 88).replaceAll('\n', '\n    ')));
  return [...wrapped, ...renderExceptions(exceptions)];
}
