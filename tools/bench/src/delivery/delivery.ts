import type { Bench } from '../bench.ts';
export const delivery: Bench = { name: 'delivery', summary: '', parts: {}, run: () => Promise.reject(new Error('later')) };
