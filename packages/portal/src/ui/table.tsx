import type { ReactNode } from 'react';

export function Facts({ of }: { of: Readonly<Record<string, ReactNode>> }) {
  const facts = Object.entries(of).map(([name, value]) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ));
  return <dl className="facts">{facts}</dl>;
}

function rowOf(cells: readonly ReactNode[], head: readonly string[] | null, key = 0) {
  const Cell = head ? 'td' : 'th';
  return (
    <tr key={key}>
      {cells.map((cell, column) => (
        <Cell key={column} data-head={head?.[column]}>
          {cell}
        </Cell>
      ))}
    </tr>
  );
}

export function Table({ head, rows }: { head: readonly string[]; rows: readonly (readonly ReactNode[])[] }) {
  return (
    <table>
      <thead>{rowOf(head, null)}</thead>
      <tbody>{rows.map((row, at) => rowOf(row, head, at))}</tbody>
    </table>
  );
}
