import type { Snapshot } from './event.ts';

export const render = ({ order }: Snapshot) => ({ order: { id: order.id, item: order.item } });
