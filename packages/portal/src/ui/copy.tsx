import { useState } from 'preact/hooks';

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [result, setResult] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setResult('Copied'),
      () => setResult('The browser does not allow it'),
    );
  return (
    <span className="actions">
      <button type="button" onClick={() => void copy()} onBlur={() => setResult('')}>
        {label}
      </button>
      <span role="status">{result}</span>
    </span>
  );
}
