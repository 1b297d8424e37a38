import type { ComponentChildren, TargetedDragEvent } from 'preact';
import { plural } from '../words.ts';
import { Visible } from './text.tsx';

/** A file that stays in the page, or what is typed instead. */
export function Dropped(props: {
  file: File | null;
  onFile: (file: File | null) => void;
  label: string;
  /** Of the control for the file. */
  name?: string;
  children: ComponentChildren;
}) {
  const { file, onFile, label, name = 'File', children } = props;
  const drop = (event: TargetedDragEvent<HTMLElement>) => {
    const [dropped] = event.dataTransfer?.files ?? [];
    // Text is dropped into the field.
    if (!dropped) return;
    event.preventDefault();
    onFile(dropped);
  };
  return (
    <div className="field" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <small>{label}</small>
      <div className="actions">
        <input type="file" aria-label={name} onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)} />
        {file && (
          <>
            <Visible text={`${file.name}, ${plural(file.size, 'byte')}`} />
            <button type="button" onClick={() => onFile(null)}>
              Remove
            </button>
          </>
        )}
      </div>
      {!file && children}
    </div>
  );
}
