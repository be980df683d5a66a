-- Keys that exist, or that the version before creates, open the whole account. No foreign key to applications: a key must not
-- open the account when its application is deleted, and must not be in the way of that.
ALTER TABLE "api_keys"
    ADD COLUMN "scopes" TEXT[] NOT NULL DEFAULT ARRAY['*']::TEXT[],
    ADD COLUMN "application_id" UUID,
    ADD COLUMN "allowed_cidrs" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "expires_at" TIMESTAMPTZ(3),
    ADD COLUMN "previous_key_hash" BYTEA,
    ADD COLUMN "previous_valid_until" TIMESTAMPTZ(3);

CREATE UNIQUE INDEX "api_keys_previous_key_hash_key" ON "api_keys"("previous_key_hash");
