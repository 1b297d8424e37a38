import { accountOfRow, fixture, rowFixturesOf, type TestedService } from '@deedwire/store/test-support';
import { firm } from '../../src/index.ts';
import { createFirmDatabase } from './database.ts';

/** The law firm, whose interfaces and tables the migrations of the platform create. */
export const testedFirm: TestedService = {
  service: firm,
  rows: rowFixturesOf(firm, [
    fixture(
      ['lender'],
      `insert into team_member (account_id, interface, first_name, last_name, email)
       values (${accountOfRow}, $1, 'A', 'B', 'a@b.test')`,
    ),
    fixture(
      ['partner'],
      `insert into referral (account_id, interface, client_name) values (${accountOfRow}, $1, 'Client')`,
    ),
    fixture(
      ['partner'],
      `insert into matter (referral_id, reference) select id, 'M-1' from referral where interface = $1::interface_name`,
    ),
  ]),
  granted: [],
  createDatabase: createFirmDatabase,
};
