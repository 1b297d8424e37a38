import { app } from './app.ts';

const { SHOP_PORT = '3000' } = process.env;

app.listen(Number(SHOP_PORT), () => console.log(`The shop listens on port ${SHOP_PORT}.`));
