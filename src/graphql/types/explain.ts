import {
  type ExplainedRule,
  type Explanation,
  explainLicense,
} from '../../services/explain/explain-license.ts';
import { type RuleName, ruleNames } from '../../services/license/decide.ts';
import { builder } from '../builder.ts';
import { withoutNulls } from '../input.ts';

const descriptions = {
  application_status: { description: 'The application is active.' },
  application_version: { description: "The client has the application's version." },
  protocol_version: { description: 'The application accepts the version of the client protocol.' },
  ip_ban: { description: 'The address is not banned.' },
  hwid_ban: { description: 'The device is not banned.' },
  license_key: { description: 'A license has the key.' },
  license_application: { description: 'The license belongs to the application.' },
  license_ban: { description: 'The license is not banned.' },
  suspension: { description: 'The license is not suspended.' },
  expiry: { description: 'The license has not expired, or has grace.' },
  device_release: { description: 'The device was not released.' },
  device_limit: { description: 'The device is bound, or there is room for it.' },
} as const satisfies Record<RuleName, object>;

const Rule = builder.enumType('VerdictRule', {
  description: 'A rule of the verdict.',
  values: descriptions,
});

const ruleOutcome = builder.enumType('RuleOutcome', {
  description: 'What a rule says.',
  values: {
    pass: { description: 'It accepts.' },
    fail: { description: 'It refuses, and so decides.' },
    not_asked: { description: 'The question does not say what it is about.' },
    not_reached: { description: 'An earlier rule has refused.' },
  } as const,
});

const ExplainedRuleType = builder.objectRef<ExplainedRule>('ExplainedRule').implement({
  description: 'A rule and what it says.',
  fields: (t) => ({
    rule: t.expose('rule', { type: Rule, description: 'The rule.' }),
    outcome: t.expose('outcome', { type: ruleOutcome, description: 'What it says.' }),
    because: t.exposeString('because', { description: 'Why; empty if it is not reached.' }),
  }),
});

const ExplanationType = builder.objectRef<Explanation>('Explanation').implement({
  description: 'The verdict that a client would get, and why.',
  fields: (t) => ({
    success: t.exposeBoolean('success', { description: 'Whether the client would be accepted.' }),
    code: t.exposeString('code', { description: 'The verdict, such as OK or EXPIRED.' }),
    message: t.exposeString('message', { description: 'The text that the client would get.' }),
    rules: t.field({
      type: [ExplainedRuleType],
      description: 'All rules, in their order.',
      complexity: { field: 1, multiplier: ruleNames.length },
      resolve: ({ rules }) => [...rules],
    }),
    wouldActivate: t.exposeBoolean('wouldActivate', {
      description: 'Whether the request would activate the license.',
    }),
    wouldBind: t.exposeBoolean('wouldBind', { description: 'Whether the request would bind the device.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the license expires; null if it never does, or with a refusal.',
    }),
    graceEndsAt: t.expose('graceEndsAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its grace ends; null unless it is only valid because of it.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'What the facts are, if a log entry filled in some of them; otherwise null.',
    }),
  }),
});

builder.queryField('explainLicense', (t) =>
  t.field({
    type: ExplanationType,
    nullable: true,
    args: {
      applicationId: t.arg.id({ description: 'The application; by default that of the log entry.' }),
      licenseKey: t.arg.string({
        description: 'The license key. The license is named by its key or its id.',
      }),
      licenseId: t.arg.id({ description: 'The id of the license; by default that of the log entry.' }),
      hwid: t.arg.string({ description: 'The device.' }),
      ip: t.arg.string({ description: 'The IP address of the client.' }),
      version: t.arg.string({ description: 'The version of the client software.' }),
      protocol: t.arg.int({ description: 'The version of the client protocol: 1 or 2.' }),
      at: t.arg({ type: 'DateTime', description: 'When the client asks; by default now.' }),
      logEntryId: t.arg.id({
        description: 'An entry of the log: its device, address and version, unless others are given.',
      }),
    },
    description:
      'Explains the verdict that a client would get. It changes, counts and logs nothing. Null comes with an error: APP_NOT_FOUND, LICENSE_NOT_FOUND, LOG_ENTRY_NOT_FOUND.',
    complexity: 20,
    resolve: (_parent, args, { service }) => {
      const { at, ...question } = withoutNulls(args);
      return explainLicense({
        ctx: service,
        input: { ...question, ...(at && { at: at.toISOString() }) },
      });
    },
  }),
);
