/** Values of a policy, none of which is the default. */
export const values = {
  durationSeconds: 86_400,
  subscriptionTier: 2,
  deviceLimit: 3,
  selfService: 'key',
  moves: { count: 2, periodSeconds: 3_600 },
  cooldownSeconds: 60,
  releaseIdleAfterSeconds: 7_200,
  graceSeconds: 300,
  leaseSeconds: 3_600,
  entitlements: { 'export.pdf': true, seats: 5 },
  metadata: { client: { plan: 'pro' }, private: { order: 7 } },
};

/** Another value of each. */
export const others = {
  durationSeconds: 60,
  subscriptionTier: 4,
  deviceLimit: 1,
  selfService: 'account',
  moves: null,
  cooldownSeconds: 0,
  releaseIdleAfterSeconds: null,
  graceSeconds: 0,
  leaseSeconds: null,
  entitlements: {},
  metadata: { client: {}, private: { order: 8 } },
};
