/** Opens the home in its first argument and keeps it open until it is killed or its parent process ends. */
import { openHome } from '../src/home.ts';

await openHome(process.argv[2] ?? '', ['customer']);
process.on('disconnect', () => process.exit(0));
process.send?.('held');
