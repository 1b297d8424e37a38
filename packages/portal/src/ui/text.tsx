import { useEffect, useState } from 'preact/hooks';
import { beginningOf, marked } from '../visible-text.ts';

/** The advice about an attempt. What is in backticks is code. */
export function Advice({ text }: { text: string }) {
  return text.split('`').map((part, at) => <Visible key={at} text={part} as={at % 2 === 1 ? 'code' : 'bdi'} />);
}

/** Text of others. A long one is shown in parts, and printed as a whole. */
export function Visible({ text, as: Tag = 'bdi' }: { text: string; as?: 'b' | 'bdi' | 'code' | 'pre' }) {
  const [length, setLength] = useState(20_000);
  const shown = beginningOf(text, length);
  const isShort = shown.length < text.length;
  useEffect(() => {
    if (!isShort) return;
    const showAll = () => setLength(text.length);
    addEventListener('beforeprint', showAll);
    return () => removeEventListener('beforeprint', showAll);
  }, [isShort, text]);
  const more = `Show more: ${shown.length.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters`;
  return (
    <>
      <Tag {...(Tag === 'pre' && { tabIndex: 0 })}>{marked(shown)}</Tag>
      {isShort && <button onClick={() => setLength(length + 80_000)}>{more}</button>}
    </>
  );
}
