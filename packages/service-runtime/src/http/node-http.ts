/**
 * The functions of `node:http`. `import … from 'node:http'` reads every export of that module, including `WebSocket`, and so loads
 * Node's whole fetch API: 12 MB of memory.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
