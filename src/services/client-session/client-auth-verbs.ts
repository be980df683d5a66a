import type { z } from 'zod';
import { loginMembers, registerMembers, upgradeMembers } from '../../protocol/messages.ts';
import type { ClientAuthOutcome } from '../end-user/client-auth.ts';
import { loginEndUser } from '../end-user/login.ts';
import { registerEndUser } from '../end-user/register.ts';
import { upgradeEndUser } from '../end-user/upgrade.ts';
import { labelsOf } from '../license/client-facts.ts';
import type { ClientVerbDefinition } from './answer-sealed.ts';

type Verb<Schema extends z.ZodType> = ClientVerbDefinition<z.output<Schema>, ClientAuthOutcome>;

const register: Verb<typeof registerMembers> = {
  name: 'register',
  schema: registerMembers,
  malformed: {},
  answer: (ctx, { username, password, email = null, licenseKey = null, hwid = null, ...body }, client) => {
    const labels = labelsOf(body);
    return registerEndUser({
      ctx,
      input: { ...client, username, password, email, licenseKey, hwid, labels },
    });
  },
};

const login: Verb<typeof loginMembers> = {
  name: 'login',
  schema: loginMembers,
  malformed: {},
  answer: (ctx, { username, password, hwid = null, ...body }, client) =>
    loginEndUser({ ctx, input: { ...client, username, password, hwid, labels: labelsOf(body) } }),
};

const upgrade: Verb<typeof upgradeMembers> = {
  name: 'upgrade',
  schema: upgradeMembers,
  malformed: {},
  answer: (ctx, { username, licenseKey, hwid = null, ...body }, client) =>
    upgradeEndUser({ ctx, input: { ...client, username, licenseKey, hwid, labels: labelsOf(body) } }),
};

/** The verbs about end users, the same in both versions of the protocol. Omitted members are passed on as null. */
export const clientAuthVerbs = { register, login, upgrade } as const;
