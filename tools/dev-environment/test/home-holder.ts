/** Takes the home that it is given and keeps it until it is killed or its parent is gone. */
import { openHome } from '../src/home.ts';

await openHome(process.argv[2] ?? '');
process.on('disconnect', () => process.exit(0));
process.send?.('held');
