import type { ComponentChildren } from 'preact';

export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  const facts = Object.entries(of).map(([name, value]) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ));
  return <dl className="facts">{facts}</dl>;
}

// The roles are those of the elements, which Safari forgets when a narrow screen shows a row as a list.
function rowOf(cells: readonly ComponentChildren[], head: readonly string[] | null, key = 0) {
  const Cell = head ? 'td' : 'th';
  return (
    <tr key={key} role="row">
      {cells.map((cell, column) => (
        <Cell key={column} role={head ? 'cell' : 'columnheader'} data-head={head?.[column]}>
          {cell}
        </Cell>
      ))}
    </tr>
  );
}

export function Table({ head, rows }: { head: readonly string[]; rows: readonly (readonly ComponentChildren[])[] }) {
  return (
    <table role="table">
      <thead role="rowgroup">{rowOf(head, null)}</thead>
      <tbody role="rowgroup">{rows.map((row, at) => rowOf(row, head, at))}</tbody>
    </table>
  );
}
