import type { Snapshot } from './event.ts';

export const render = ({ order }: Snapshot) => ({ orderId: order.id });
