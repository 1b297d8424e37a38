export function createRetention(_: object) {
  return { start() {}, async stop() {}, problems: async (): Promise<string[]> => [] };
}
