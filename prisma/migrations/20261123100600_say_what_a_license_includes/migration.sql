ALTER TABLE "licenses"
    ADD COLUMN "policy_id" UUID,
    ADD COLUMN "lease_seconds" INTEGER,
    ADD COLUMN "entitlements" JSONB NOT NULL DEFAULT '{}',
    ADD COLUMN "metadata" JSONB,
    ADD COLUMN "tags" TEXT[] DEFAULT ARRAY[]::TEXT[];
