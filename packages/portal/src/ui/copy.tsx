import { useState } from 'react';

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [shown, setShown] = useState(label);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setShown('Copied'),
      () => setShown('Not allowed'),
    );
  return (
    <button type="button" onClick={() => void copy()} onBlur={() => setShown(label)}>
      <span role="status">{shown}</span>
    </button>
  );
}
