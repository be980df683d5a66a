-- CreateEnum
CREATE TYPE "ApplicationStatus" AS ENUM ('active', 'disabled');

-- CreateTable
CREATE TABLE "applications" (
    "id" UUID NOT NULL,
    "developer_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL DEFAULT '1.0.0',
    "status" "ApplicationStatus" NOT NULL DEFAULT 'active',
    "hwid_lock_enabled" BOOLEAN NOT NULL DEFAULT true,
    "require_license_to_register" BOOLEAN NOT NULL DEFAULT true,
    "registration_enabled" BOOLEAN NOT NULL DEFAULT true,
    "response_messages" JSONB NOT NULL DEFAULT '{}',
    "public_key" BYTEA NOT NULL,
    "private_key_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "applications_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "applications_name_not_empty" CHECK ("name" <> ''),
    CONSTRAINT "applications_version_not_empty" CHECK ("version" <> ''),
    CONSTRAINT "applications_response_messages_is_object" CHECK (jsonb_typeof("response_messages") = 'object'),
    CONSTRAINT "applications_public_key_is_ed25519" CHECK (octet_length("public_key") = 32),
    -- IV (12), seed (32) and tag (16) at least: a bare seed never fits.
    CONSTRAINT "applications_private_key_is_sealed" CHECK (octet_length("private_key_encrypted") >= 60)
);

-- CreateIndex
CREATE INDEX "applications_developer_id_id_idx" ON "applications"("developer_id", "id");

-- AddForeignKey
ALTER TABLE "applications" ADD CONSTRAINT "applications_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
