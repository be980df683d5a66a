import { z } from '@hono/zod-openapi';
import { strictObject, unknownMember } from '../services/fields.ts';
import { licenseFilter, shownLicenseStatuses } from '../services/license/lists.ts';
import { pageInput } from '../services/page.ts';
import { pageQueryShape } from './page-query.ts';

const conditions = licenseFilter.shape;
const instant = z.iso.datetime().transform((text) => new Date(text));
const separated = z.string().transform((text) => text.split(','));
const wholeNumbers = z
  .string()
  .regex(/^\d{1,10}(,\d{1,10})*$/, 'must be whole numbers, separated by commas')
  .transform((text) => text.split(',').map(Number));

const notes = {
  expiresFrom: 'Licenses whose term ends at this instant or later.',
  expiresBefore: 'Licenses whose term ends or has ended before this instant.',
  hasHwid: 'Whether the license is bound to a device.',
  tag: 'Licenses with this tag.',
  policyId: 'Licenses that were created by this policy, or to which it was applied last.',
} as const;

const queryShape = {
  ...pageQueryShape,
  status: separated.optional().openapi({
    type: 'string',
    example: 'active,suspended',
    description: `One or more, separated by commas: ${shownLicenseStatuses.join(', ')}.`,
  }),
  tier: wholeNumbers
    .optional()
    .openapi({ type: 'string', example: '1,2', description: 'One or more tiers, separated by commas.' }),
  expiresFrom: instant
    .optional()
    .openapi({ type: 'string', format: 'date-time', description: notes.expiresFrom }),
  expiresBefore: instant
    .optional()
    .openapi({ type: 'string', format: 'date-time', description: notes.expiresBefore }),
  hasHwid: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .openapi({ type: 'string', enum: ['true', 'false'], description: notes.hasHwid }),
  tag: z.string().optional().openapi({ description: notes.tag }),
  policyId: z.string().optional().openapi({ format: 'uuid', description: notes.policyId }),
  metadata: z
    .record(z.string(), z.string(), { error: 'needs a name: metadata[name]=value' })
    .optional()
    .openapi({
      param: { style: 'deepObject', explode: true },
      description:
        '`metadata[name]=value`, at most 10: licenses with this value, under `client` or `private`. `5` and `true` match ' +
        'the text, the number and the boolean.',
    }),
};

/** The names of the query parameters. */
export const licenseQueryNames = Object.keys(queryShape).map((name) =>
  name === 'metadata' ? 'metadata[name]' : name,
);

const metadataParameter = /^metadata\[(.+)\]$/s;
const metadataConditions = conditions.metadata.unwrap();

const filterOf = strictObject({
  ...pageInput.shape,
  ...conditions,
  status: conditions.statuses,
  tier: conditions.subscriptionTiers,
}).omit({ statuses: true, subscriptionTiers: true });

/** Gathers the values of metadata, whose names are part of the names of parameters. Refuses every other unknown name. */
const gathered = z.transform((query: Readonly<Record<string, unknown>>, context) => {
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  const own = new Map(Object.entries(query).filter(([name]) => Object.hasOwn(queryShape, name)));
  const others = Object.entries(query).filter(([name]) => !own.has(name));
  const metadata = others.flatMap(([name, value]) => {
    const key = metadataParameter.exec(name)?.[1];
    return key === undefined ? [] : [{ parameter: name, name: key, value }];
  });
  const unknown = others.map(([name]) => name).filter((name) => !metadataParameter.test(name));
  if (unknown.length > 0) {
    context.addIssue({
      code: 'unrecognized_keys',
      keys: unknown,
      input: query,
      message: unknownMember(licenseQueryNames),
    });
  }
  const wanted = metadataConditions.safeParse(metadata.map(({ name, value }) => ({ name, value })));
  for (const { path, message } of wanted.error?.issues ?? []) {
    refuse(metadata[Number(path[0])]?.parameter ?? 'metadata', message);
  }
  return { ...Object.fromEntries(own), ...(metadata.length > 0 && { metadata: wanted.data }) };
});

/** The query string of a list of licenses: the page, and the filter with its names in the services. */
export const licenseQuery = z
  .object(queryShape)
  .catchall(z.unknown())
  // In this order, so that the OpenAPI document finds the object.
  .pipe(
    gathered.pipe(filterOf).transform(({ limit, cursor, q, status, tier, ...filter }) => ({
      page: { limit, cursor, q },
      filter: { ...filter, statuses: status, subscriptionTiers: tier },
    })),
  );

/** The same filter as JSON: lists instead of separated texts. */
export const licenseFilterBody = strictObject({
  q: conditions.q,
  status: conditions.statuses,
  tier: conditions.subscriptionTiers,
  expiresFrom: instant
    .optional()
    .openapi({ type: 'string', format: 'date-time', description: notes.expiresFrom }),
  expiresBefore: instant
    .optional()
    .openapi({ type: 'string', format: 'date-time', description: notes.expiresBefore }),
  hasHwid: conditions.hasHwid,
  tag: conditions.tag,
  metadata: conditions.metadata,
  policyId: conditions.policyId,
}).transform(({ status, tier, ...filter }) => ({ ...filter, statuses: status, subscriptionTiers: tier }));
