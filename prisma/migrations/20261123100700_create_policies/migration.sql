-- CreateEnum
CREATE TYPE "PolicyStart" AS ENUM ('first_use', 'creation');

CREATE TABLE "policies" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "duration_seconds" INTEGER NOT NULL DEFAULT 0,
    "starts_at" "PolicyStart" NOT NULL DEFAULT 'first_use',
    "subscription_tier" INTEGER NOT NULL DEFAULT 0,
    "device_limit" INTEGER NOT NULL DEFAULT 1,
    "self_service" "SelfService" NOT NULL DEFAULT 'off',
    "move_count" INTEGER,
    "move_period_seconds" INTEGER,
    "cooldown_seconds" INTEGER NOT NULL DEFAULT 0,
    "release_idle_after_seconds" INTEGER,
    "grace_seconds" INTEGER NOT NULL DEFAULT 0,
    "lease_seconds" INTEGER,
    "entitlements" JSONB NOT NULL DEFAULT '{}',
    "metadata" JSONB,
    "key_mask" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "policies_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "policies_application_id_id_idx" ON "policies"("application_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "policies_application_id_code_key" ON "policies"("application_id", "code");

-- AddForeignKey
ALTER TABLE "policies" ADD CONSTRAINT "policies_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;
