import { type Tone, toneOf, wordOf } from '../words.ts';

const shapes: Record<Tone, string> = {
  good: 'M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0-10',
  warn: 'M5 0L10 10H0z',
  bad: 'M0 0H10V10H0z',
  idle: 'M1 0H4V10H1zM6 0H9V10H6z',
};

/** A state as a word, a shape and a color. The documentation and the API have the same word. */
export function State({ value, tone = toneOf(value) }: { value: string; tone?: Tone }) {
  return (
    <span className={`state ${tone}`} translate={false}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={shapes[tone]} />
      </svg>
      {wordOf(value)}
    </span>
  );
}
