-- CreateEnum
CREATE TYPE "SelfService" AS ENUM ('off', 'key', 'account');

-- CreateEnum
CREATE TYPE "DeviceReleaser" AS ENUM ('vendor', 'customer', 'idle');

-- Constants as defaults: no row is rewritten.
ALTER TABLE "licenses"
    ADD COLUMN "device_limit" INTEGER NOT NULL DEFAULT 1,
    ADD COLUMN "device_count" INTEGER,
    ADD COLUMN "device_releases" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "self_service" "SelfService" NOT NULL DEFAULT 'off',
    ADD COLUMN "move_count" INTEGER,
    ADD COLUMN "move_period_seconds" INTEGER,
    ADD COLUMN "moved_at" TIMESTAMPTZ(3)[] DEFAULT ARRAY[]::TIMESTAMPTZ(3)[],
    ADD COLUMN "cooldown_seconds" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "release_idle_after_seconds" INTEGER,
    -- Without a scan of the table, which would block it; all rows have the defaults.
    ADD CONSTRAINT "licenses_device_limit_is_possible" CHECK ("device_limit" BETWEEN 1 AND 1000) NOT VALID;

CREATE TABLE "devices" (
    "id" UUID NOT NULL,
    "license_id" UUID NOT NULL,
    "hwid" TEXT,
    "device_hash" TEXT,
    "name" TEXT,
    "platform" TEXT,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_ip" TEXT,
    "country" TEXT,
    "released_at" TIMESTAMPTZ(3),
    "released_by" "DeviceReleaser",
    "may_return" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "devices_have_one_name" CHECK (num_nonnulls("hwid", "device_hash") = 1),
    CONSTRAINT "devices_are_released_by_someone" CHECK (("released_at" IS NULL) = ("released_by" IS NULL))
);

-- CreateIndex
CREATE INDEX "devices_license_id_id_idx" ON "devices"("license_id", "id");

-- A device is bound once, however many requests bind it at the same time.
CREATE UNIQUE INDEX "devices_active_hwid_key" ON "devices"("license_id", "hwid") WHERE "released_at" IS NULL;
CREATE UNIQUE INDEX "devices_active_device_hash_key" ON "devices"("license_id", "device_hash") WHERE "released_at" IS NULL;

-- AddForeignKey
ALTER TABLE "devices" ADD CONSTRAINT "devices_license_id_fkey" FOREIGN KEY ("license_id") REFERENCES "licenses"("id") ON DELETE CASCADE ON UPDATE CASCADE;
