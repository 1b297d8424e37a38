/**
 * Returns the human-readable reference of a matter, for example `M-2026-000042`, and `M5-2026-000042` in the cell 5. Numbers do not
 * restart each year.
 */
export function formatMatterReference(matter: { cell: number; number: string; openedAt: Date }): string {
  const { cell, number, openedAt } = matter;
  return `M${cell === 0 ? '' : cell}-${openedAt.getUTCFullYear()}-${number.padStart(6, '0')}`;
}
