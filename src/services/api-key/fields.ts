import { z } from 'zod';
import { parseCidr } from '../../lib/cidr.ts';
import { displayName, id, strictObject } from '../fields.ts';
import { type Scope, scopes } from '../scopes.ts';

/** Names for both scopes of a resource. */
const scopeGroups = {
  'users:*': ['users:read', 'users:write'],
  'applications:*': ['applications:read', 'applications:write'],
  'webhooks:*': ['webhooks:read', 'webhooks:write'],
  'account:*': ['account:read', 'account:write'],
} as const satisfies Record<string, readonly Scope[]>;

type ScopeGroup = keyof typeof scopeGroups;

const isGroup = (name: Scope | ScopeGroup): name is ScopeGroup => Object.hasOwn(scopeGroups, name);

/** The names that an input takes. */
export const scopeNames = [...scopes, ...(Object.keys(scopeGroups) as ScopeGroup[])] as const;

/** Scopes, each once and in the order of `scopes`. */
const scopeList = z
  .array(z.enum(scopeNames))
  .min(1)
  .max(scopeNames.length)
  .transform((names): Scope[] => {
    const given = new Set<Scope>(names.flatMap((name) => (isGroup(name) ? scopeGroups[name] : [name])));
    return scopes.filter((scope) => given.has(scope));
  });

/** The number of networks of a key. They are compared one by one with the address of each request. */
const maxCidrs = 20;

const cidr = z
  .string()
  .max(64)
  .transform((text, context): string => {
    const network = parseCidr(text);
    if (network !== null) return network;
    context.addIssue({
      code: 'custom',
      message:
        'must be a network such as 192.0.2.0/24 or 2001:db8::/32, without bits beyond its prefix, or an address',
    });
    return z.NEVER;
  });

const cidrs = z.array(cidr).max(maxCidrs);

/** An expiry in ISO 8601, up to the year 9999. */
const expiry = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 timestamp with a time zone' })
  .refine((text) => new Date(text) < new Date('+010000-01-01T00:00:00Z'), 'must lie before the year 10000');

export const createApiKeyInput = strictObject({
  name: displayName,
  /** By default everything, also what later versions add. */
  scopes: scopeList.optional(),
  /** The only application that the key opens. */
  applicationId: id.optional(),
  /** The networks that it may be used from; by default any. */
  allowedCidrs: cidrs.default([]),
  expiresAt: expiry.optional(),
});

/** Members that a PATCH of a key takes; those that are left out stay as they are. */
export const updateApiKeyInput = strictObject({
  name: displayName,
  scopes: scopeList,
  /** None: any address. */
  allowedCidrs: cidrs,
  /** Null: it does not expire. */
  expiresAt: expiry.nullable(),
}).partial();

export type ApiKeyChange = z.output<typeof updateApiKeyInput>;

/** Whether at least one member was sent, which is required. */
export const apiKeyChangeNotEmpty = (change: ApiKeyChange): boolean =>
  Object.values(change).some((value) => value !== undefined);

/** The longest time that the token before a rotation stays good: 7 days. */
export const maxOverlapSeconds = 7 * 24 * 60 * 60;

export const rotateApiKeyInput = strictObject({ overlapSeconds: z.int().min(0).max(maxOverlapSeconds) });
