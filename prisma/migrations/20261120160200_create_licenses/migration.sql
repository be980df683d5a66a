-- CreateEnum
CREATE TYPE "LicenseStatus" AS ENUM ('unused', 'active', 'banned');

-- CreateTable
CREATE TABLE "licenses" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "key_prefix" TEXT NOT NULL,
    "status" "LicenseStatus" NOT NULL DEFAULT 'unused',
    "duration_seconds" INTEGER NOT NULL DEFAULT 0,
    "subscription_tier" INTEGER NOT NULL DEFAULT 0,
    "activated_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "hwid" TEXT,
    "last_ip" TEXT,
    "note" TEXT,
    "note_ciphertext_b64" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "licenses_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "licenses_key_hash_is_sha256" CHECK (octet_length("key_hash") = 32),
    CONSTRAINT "licenses_duration_not_negative" CHECK ("duration_seconds" >= 0),
    CONSTRAINT "licenses_tier_not_negative" CHECK ("subscription_tier" >= 0),
    CONSTRAINT "licenses_activated_unless_unused" CHECK (
        CASE "status"
            WHEN 'unused' THEN "activated_at" IS NULL
            WHEN 'active' THEN "activated_at" IS NOT NULL
            ELSE true
        END
    ),
    CONSTRAINT "licenses_expiry_follows_activation" CHECK ("expires_at" IS NULL OR "activated_at" IS NOT NULL),
    CONSTRAINT "licenses_hwid_not_empty" CHECK ("hwid" <> '')
);

-- CreateIndex
CREATE UNIQUE INDEX "licenses_key_hash_key" ON "licenses"("key_hash");

-- CreateIndex
CREATE INDEX "licenses_application_id_id_idx" ON "licenses"("application_id", "id");

-- AddForeignKey
ALTER TABLE "licenses" ADD CONSTRAINT "licenses_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;
